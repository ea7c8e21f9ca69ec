/**
 * One request for several users or tags, such as lines of a batch: each gets a ledger entry for its share of
 * the call, as requests that share a call do.
 */
import { labelsOf, type Labels } from '#core/money/labels.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import { divideTokens } from '#core/money/usage.ts'

export interface LabelShare extends Labels {
  /** The share's weight: the size of its inputs. */
  readonly weight: number
}

export interface LabelTerms {
  /** Labels of the whole request. Undefined when there are none, or when its shares differ. */
  readonly labels: Labels | undefined
  /** Undefined when the whole request has the same labels. */
  readonly shares: readonly LabelShare[] | undefined
}

/** Joins shares with the same labels. */
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
 * Divides an entry among the shares, so that the results add up to it. The first keeps its number and
 * everything that is not divided: the lease, the remarks, and the request count. `nextAttempt` numbers the
 * others.
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
      inputs: 0,
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
