// Two people changed the same thing: what it was, what it is now, what I wanted. Nothing is lost, nobody is overwritten.
import { Button } from "@mantine/core";

export type Lines = [string, string][];

type Props = { base: Lines; theirs: Lines; mine: Lines; onTheirs: () => void; onMine: () => void; goOn?: string };

export function Conflict({ base, theirs, mine, onTheirs, onMine, goOn = "Go on with mine, from their version" }: Props) {
  const names = [...new Set([...base, ...theirs, ...mine].map(([name]) => name))];
  const of = (lines: Lines, name: string) => lines.find(([one]) => one === name)?.[1] ?? "–";
  return (
    <section className="card stack" role="alert" aria-label="Conflict" data-testid="conflict">
      <h2>Somebody else saved a change meanwhile</h2>
      {names.every((name) => of(theirs, name) === of(base, name)) ? <p className="dim small">They changed something else of it; what you edit is as it was.</p> : null}
      <div className="tablebox" tabIndex={0} role="region" aria-label="The three versions">
        <table className="data wrap">
          <thead>
            <tr>
              <th scope="col">setting</th>
              <th scope="col">when you began</th>
              <th scope="col">theirs, now</th>
              <th scope="col">yours</th>
            </tr>
          </thead>
          <tbody>
            {names.map((name) => (
              <tr key={name}>
                <td className="dim">{name}</td>
                <td>{of(base, name)}</td>
                <td className={of(theirs, name) === of(base, name) ? "" : "strong warn"}>{of(theirs, name)}</td>
                <td className={of(mine, name) === of(base, name) ? "" : "strong"}>{of(mine, name)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="row">
        <Button variant="default" onClick={onTheirs}>
          Take theirs
        </Button>
        <Button onClick={onMine}>{goOn}</Button>
      </div>
    </section>
  );
}
