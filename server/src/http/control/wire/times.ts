export function timeOf(unixMs: number | undefined): string | null {
  return unixMs === undefined ? null : isoOf(unixMs)
}

export function isoOf(unixMs: number): string {
  return new Date(unixMs).toISOString()
}
