/** Figures beside their aims. */
import { print } from './bench/parts.ts'

export class Report {
  readonly #rows: string[][] = []
  isKept = true

  figure(what: string, figure: string): void {
    this.#rows.push([what, figure, '', ''])
  }

  /** `isMet` undefined: the goal is shown, and does not count here. */
  aim(what: string, figure: string, aim: string, isMet: boolean | undefined): void {
    if (isMet === false) this.isKept = false
    this.#rows.push([what, figure, aim, isMet === undefined ? '' : isMet ? 'ok' : 'MISSED'])
  }

  print(title: string): void {
    process.stdout.write(`\n${title}\n`)
    print([['measure', 'figure', 'aim', ''], ...this.#rows.splice(0)])
  }
}
