/** The list that a person came from, so that a request knows what stands before and after it. */
let lastList: readonly string[] = []

export function rememberList(ids: readonly string[]): void {
  lastList = ids
}

export function neighboursOf(id: string): {
  readonly newer: string | undefined
  readonly older: string | undefined
} {
  const at = lastList.indexOf(id)
  return at === -1
    ? { newer: undefined, older: undefined }
    : { newer: lastList[at - 1], older: lastList[at + 1] }
}
