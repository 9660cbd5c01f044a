// Whose work was lost? What another team lost is told by its side, and never counted as ours.
import { work } from "./formats";

type Lost = { job: string; lost_gpu_seconds: number };

/** "322 GPU-s of ours, 321 GPU-s of others"; one figure where all of it is ours. Jobs of others have no name, but one in brackets. */
export function lossWords(victims: readonly Lost[]): string {
  const sum = (of: readonly Lost[]) => work(of.reduce((all, one) => all + one.lost_gpu_seconds, 0));
  const others = victims.filter((one) => one.job.startsWith("["));
  const ours = victims.filter((one) => !one.job.startsWith("["));
  if (others.length === 0) return sum(ours);
  return ours.length === 0 ? `${sum(others)} of others` : `${sum(ours)} of ours, ${sum(others)} of others`;
}
