// A table as a file that any program reads.

/** Rows as CSV: quoted where needed, so that any program reads them alike. */
export function csv(titles: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const cell = (value: unknown) => {
    const text = value === null || value === undefined ? "" : String(value);
    const safe = /^[=+\-@\t\r\n＝＋－＠]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text; // no formulas in a spreadsheet
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [titles, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** Gives the browser a file to keep. */
export function download(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
