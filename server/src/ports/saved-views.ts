/** Filters that a member keeps under a name. */
export interface SavedView {
  /** The place, such as `requests`. */
  readonly page: string
  readonly name: string
  /** The address behind the `?`. */
  readonly search: string
}

export interface SavedViewStore {
  list(memberId: string): Promise<readonly SavedView[]>
  /** All of the member's, in this order, in place of those before. */
  replace(memberId: string, views: readonly SavedView[]): Promise<void>
}
