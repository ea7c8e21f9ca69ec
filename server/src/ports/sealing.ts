/** A text that leaves the node and comes back: no one in between can read or change it. */
export interface TextSeal {
  seal(text: string): string
  /** Undefined: it was not sealed by a node of this install, or was changed. */
  open(sealed: string): string | undefined
}
