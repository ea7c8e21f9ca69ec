/** One finding of the doctor. */
export type Verdict = 'ok' | 'warn' | 'fail'
type Figures = Record<string, number>

export interface Finding {
  readonly verdict: Verdict
  readonly says: string
  readonly figures: Figures
}

export function finding(verdict: Verdict, says: string, figures: Figures = {}): Finding {
  return { verdict, says, figures }
}

export const ok = (says: string, figures?: Figures): Finding => finding('ok', says, figures)
export const warn = (says: string, figures?: Figures): Finding => finding('warn', says, figures)
export const fail = (says: string, figures?: Figures): Finding => finding('fail', says, figures)

export function count(amount: number, noun: string, plural = `${noun}s`): string {
  return `${amount} ${amount === 1 ? noun : plural}`
}
