// Own drawings, 16 px, one stroke: for modules and for the places of the console.
import type { ReactNode } from "react";

function Icon({ children }: { children: ReactNode }) {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true">
      {children}
    </svg>
  );
}

export const icons = {
  overview: <Icon><path d="M2.5 13.5v-5h3v5zM6.5 13.5v-11h3v11zM10.5 13.5v-7h3v7z" /></Icon>,
  quotas: <Icon><path d="M2 3h12M2 3v10M2 8h3M2 13h3" /><path d="M7.5 8H14M7.5 13h4" /></Icon>,
  jobs: <Icon><path d="M5 4h9M5 8h9M5 12h9M2 4h.01M2 8h.01M2 12h.01" /></Icon>,
  preemptions: <Icon><path d="M10 3l3 3-3 3M13 6H6a3 3 0 0 0 0 6h2" /></Icon>,
  cluster: <Icon><rect x="2" y="2.5" width="12" height="4.5" rx="1" /><rect x="2" y="9" width="12" height="4.5" rx="1" /><path d="M4.5 4.8h.01M4.5 11.2h.01" /></Icon>,
  workspaces: <Icon><circle cx="6" cy="5.5" r="2.5" /><path d="M1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M11 3.2a2.5 2.5 0 0 1 0 4.6M12 9.8c1.6.6 2.5 1.9 2.5 3.7" /></Icon>,
  whatif: <Icon><path d="M2 13.5h12M3 11l3.5-4 2.5 2 4-5.5" /><path d="M10.5 3.5H13V6" /></Icon>,
  audit: <Icon><path d="M4 2h6l2.5 2.5V14H4zM6.5 7h4M6.5 10h4" /></Icon>,
  users: <Icon><circle cx="8" cy="5.5" r="2.7" /><path d="M3 13.8c.3-2.6 2.3-4 5-4s4.700 1.400 5 4" /></Icon>,
  sun: <Icon><circle cx="8" cy="8" r="2.8" /><path d="M8 1.500v1.500M8 13v1.500M1.500 8H3M13 8h1.500M3.400 3.400l1 1M11.600 11.600l1 1M3.400 12.600l1-1M11.600 4.400l1-1" /></Icon>,
  moon: <Icon><path d="M13.500 9.500A5.800 5.800 0 0 1 6.500 2.500a5.800 5.800 0 1 0 7 7z" /></Icon>,
  leave: <Icon><path d="M6 2.500H3v11h3M9.500 5l3 3-3 3M12.500 8H6" /></Icon>,
  menu: <Icon><path d="M2 4h12M2 8h12M2 12h12" /></Icon>,
  DLC: <Icon><path d="M8 2l6 3-6 3-6-3zM2 8l6 3 6-3M2 11l6 3 6-3" /></Icon>,
  DSW: <Icon><rect x="3" y="2" width="10.500" height="12" rx="1.200" /><path d="M6 2v12M8.500 5.500h2.500" /></Icon>,
  EAS: <Icon><path d="M1.500 8.500h3l2-5.500 3 10 2-4.500h3" /></Icon>,
} as const;
