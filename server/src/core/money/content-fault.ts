/** Why PostgreSQL refused a statement of the ledger, by SQLSTATE. */

/** By class, the longest first. */
const FAULTS: readonly (readonly [states: string, isContent: boolean])[] = [
  // The entry is in the ledger already, or an index is damaged.
  ['23505', false],
  // A value out of range, too long, or not encodable.
  ['22', true],
  // A missing value, a check, a reference, a day without a partition.
  ['23', true],
]

/**
 * Whether the fault lies in the content of an entry: the same entry fails again while others succeed. Any other fault, an unknown one
 * included, lies in the schema, the rights or the server: all entries wait until it is removed.
 */
export function isContentFault(sqlState: string): boolean {
  return FAULTS.find(([states]) => sqlState.startsWith(states))?.[1] ?? false
}
