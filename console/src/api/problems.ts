// What went wrong, in the server's own words (RFC 9457), or in ours where the server did not answer.
import type { Problem } from "./types";

export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly rule: string | undefined;
  readonly errors: { field: string; message: string }[];

  constructor(problem: Partial<Problem> & { status: number; detail: string }) {
    super(problem.detail);
    this.name = "ApiProblem";
    this.status = problem.status;
    this.code = problem.code ?? "";
    this.rule = problem.rule;
    this.errors = problem.errors ?? [];
  }
}

export const UNREACHABLE = 0;

export async function problemOf(response: Response): Promise<ApiProblem> {
  try {
    const body = (await response.json()) as Partial<Problem>;
    return new ApiProblem({ ...body, status: response.status, detail: body.detail ?? body.title ?? response.statusText });
  } catch {
    return new ApiProblem({ status: response.status, detail: `the server answered ${response.status} ${response.statusText}` });
  }
}

/** One sentence for people: the detail, and the fields that were refused. */
export function sentence(error: unknown): string {
  if (error instanceof ApiProblem) {
    if (error.status === 404) return `Not there, or not yours: ${error.message}`;
    const fields = error.errors.map((one) => `${one.field}: ${one.message}`);
    return fields.length > 0 ? fields.join("; ") : error.message;
  }
  return error instanceof Error ? error.message : String(error);
}

export function isConflict(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 412;
}
