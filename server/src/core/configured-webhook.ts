/** Where a project's events go. */
export interface ConfiguredWebhook {
  readonly url: string
  readonly secret: string
  /** Undefined: all. */
  readonly events: readonly string[] | undefined
  /** May be a private address, and plain http: the operator's word. */
  readonly isPrivate: boolean
}
