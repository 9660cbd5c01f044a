// What became of the jobs of a decision since.
export function SinceThen({ seq }: { seq: number }) {
  return <span className="dim">see the jobs of #{seq}</span>;
}
