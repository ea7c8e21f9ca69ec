/** What was wrong with an upstream's answer. */
export class BrokenAnswer extends Error {
  override readonly name = 'BrokenAnswer'
  readonly wrongWidth: number | undefined

  constructor(message: string, wrongWidth?: number) {
    super(message)
    this.wrongWidth = wrongWidth
  }
}
