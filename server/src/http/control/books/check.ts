/** One finding of the doctor. */
export type Verdict = 'ok' | 'warn' | 'fail'

export interface Check {
  readonly name: string
  readonly verdict: Verdict
  readonly says: string
  readonly figures: Record<string, number>
}

export function check(
  name: string,
  verdict: Verdict,
  says: string,
  figures: Record<string, number> = {},
): Check {
  return { name, verdict, says, figures }
}

export function count(amount: number, noun: string, plural = `${noun}s`): string {
  return `${amount} ${amount === 1 ? noun : plural}`
}
