interface BrokenDetail {
  /** Of a vector that has values, but not as many as it should. */
  readonly wrongWidth?: number | undefined
  /** The same request would get the same: what it asks for, or how the deployment is set up, is at fault. */
  readonly isLasting?: boolean
}

/** What was wrong with an upstream's answer. */
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
