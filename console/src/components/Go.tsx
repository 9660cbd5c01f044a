// A link to an address of the console that costs next to nothing to draw: tables have hundreds of them.
import { useRouter } from "@tanstack/react-router";
import type { MouseEvent, ReactNode } from "react";

type Props = { to: string; children: ReactNode; className?: string | undefined; title?: string | undefined };

export function Go({ to, children, className, title }: Props) {
  const router = useRouter();
  const go = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    router.history.push(to);
  };
  return (
    <a href={to} onClick={go} className={className} title={title}>
      {children}
    </a>
  );
}

export const jobPath = (id: string) => `/jobs/${encodeURIComponent(id)}`;
export const quotaPath = (id: string) => `/quotas/${encodeURIComponent(id)}`;
