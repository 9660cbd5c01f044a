// Which of a job's three figures for replicas were changed in the form? What is not sent stays as it is (P12).
type Known = { core_replicas: number; replicas: number; most_replicas: number };
type Written = { least: string; wanted: string; most: string };
export type Figures = { min_replicas?: number; replicas?: number; max_replicas?: number };

export function changedFigures(job: Known, written: Written): Figures {
  const [least, wanted, most] = [Number(written.least), Number(written.wanted), Number(written.most)];
  return {
    ...(least === job.core_replicas ? {} : { min_replicas: least }),
    ...(wanted === job.replicas ? {} : { replicas: wanted }),
    ...(most === job.most_replicas ? {} : { max_replicas: most }),
  };
}
