/** What a judge found that should be otherwise. */
export class Unfit extends Error {
  readonly expected: string

  constructor(expected: string, got: string) {
    super(got)
    this.expected = expected
  }
}

export function must(holds: boolean, expected: string, got: string): void {
  if (!holds) throw new Unfit(expected, got)
}
