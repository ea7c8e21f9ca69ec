interface BrokenDetail {
  /** Set for a vector that has values, but not as many as it should. */
  readonly wrongWidth?: number | undefined
  /** The same request would fail again: its content, or the setup of the deployment, is at fault. */
  readonly isLasting?: boolean
}

/** An invalid answer of an upstream. */
export class BrokenAnswer extends Error {
  override readonly name = 'BrokenAnswer'
  readonly wrongWidth: number | undefined
  readonly isLasting: boolean

  constructor(message: string, { wrongWidth, isLasting = false }: BrokenDetail = {}) {
    super(message)
    this.wrongWidth = wrongWidth
    this.isLasting = isLasting
  }
}
