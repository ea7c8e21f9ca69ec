/**
 * Work for several users or tags in one request, as lines of a batch are: each has an entry of its own for its part of the call, as
 * requests have that share one.
 */
import { labelsOf, type Labels } from '#core/labels.ts'
import type { LedgerEntry } from '#core/ledger.ts'
import { divideTokens } from '#core/usage.ts'

export interface LabelShare extends Labels {
  /** What the request is divided by: the size of the inputs. */
  readonly weight: number
}

export interface LabelTerms {
  /** Of the whole request. Undefined: none, or its parts have different ones. */
  readonly labels: Labels | undefined
  /** Undefined: all of it has the same labels. */
  readonly shares: readonly LabelShare[] | undefined
}

/** Parts with the same labels are one. */
export function labelTermsOf(parts: readonly [LabelShare, ...LabelShare[]]): LabelTerms {
  const shares = [...Map.groupBy(parts, identityOf).values()].map((equal) => ({
    ...(equal[0] as LabelShare),
    weight: equal.reduce((sum, { weight }) => sum + weight, 0),
  }))
  return shares.length === 1
    ? { labels: labelsOf(parts[0]), shares: undefined }
    : { labels: undefined, shares }
}

/**
 * An entry for each share; together they are the entry. The first keeps its number and what is not divided: the lease, the
 * remarks, and that the request is counted once. `nextAttempt`: numbers the others.
 */
export function dividedEntry(
  entry: LedgerEntry,
  shares: readonly LabelShare[],
  nextAttempt: () => number,
): readonly LedgerEntry[] {
  const weights = shares.map(({ weight }) => weight)
  const parts = (total: number | undefined): readonly (number | undefined)[] =>
    total === undefined ? weights.map(() => undefined) : divideTokens(total, weights)
  const amounts = (total: bigint | undefined): readonly (bigint | undefined)[] =>
    parts(total === undefined ? undefined : Number(total)).map((part) =>
      part === undefined ? undefined : BigInt(part),
    )
  const [tokens, hits] = [parts(entry.tokens), parts(entry.hits)]
  const [costs, savings] = [amounts(entry.amountNanoUsd), amounts(entry.savedNanoUsd)]
  return shares.map((share, index) => ({
    ...entry,
    ...(index > 0 && {
      attempt: nextAttempt(),
      projectLeaseNanoUsd: 0n,
      keyLeaseNanoUsd: 0n,
      countsRequest: false,
      remarks: undefined,
    }),
    tokens: tokens[index],
    hits: hits[index],
    amountNanoUsd: costs[index],
    savedNanoUsd: savings[index],
    labels: labelsOf(share),
  }))
}

function identityOf({ user, tags = {} }: Labels): string {
  return JSON.stringify([user, Object.entries(tags).sort(([a], [b]) => (a < b ? -1 : 1))])
}
