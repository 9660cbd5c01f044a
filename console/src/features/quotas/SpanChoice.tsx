// How far back? The choice stands in the address.
import { Link } from "@tanstack/react-router";
import { spanWords, type SpanName } from "./spans";

type Props = { to: "/quotas/$quota/monitoring" | "/quotas/$quota/usage"; quota: string; span: SpanName; spans: readonly SpanName[] };

export function SpanChoice({ to, quota, span, spans }: Props) {
  return (
    <nav className="spans" aria-label="How far back">
      {spans.map((one) => (
        <Link key={one} to={to} params={{ quota }} search={(before: object) => ({ ...before, span: one })} replace aria-current={one === span ? "true" : undefined} title={`the last ${spanWords(one)}`}>
          {one}
        </Link>
      ))}
    </nav>
  );
}
