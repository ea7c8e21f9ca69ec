/** Ledger entries as the columns that the statement of the ledger takes. */
import { storedRemarks } from '#core/money/entry-remarks.ts'
import { hourOf, type CountedEntry, type LedgerEntry } from '#core/money/ledger.ts'
import { plainArray, textArray } from '../arrays.ts'
import type { CountedLabels } from './label-registry.ts'
import { SHARDS } from './ledger-sql.ts'

/** The parameters of `appendStatement`: each a column of all entries. */
export function parametersOf(
  nodeId: string,
  entries: readonly CountedEntry[],
  lane = 0,
  labels?: CountedLabels,
): unknown[] {
  const column = <Value>(value: (entry: LedgerEntry) => Value): Value[] =>
    entries.map(({ entry }) => value(entry))
  return [
    nodeId,
    shardOf(nodeId, lane),
    plainArray(column(({ requestId }) => requestId)),
    usualColumn(
      column(({ attempt }) => attempt),
      0,
    ),
    usualColumn(
      column(({ kind }) => kind),
      'post',
    ),
    plainArray(column(({ callId }) => callId)),
    textArray(column(({ project }) => project)),
    textArray(column(({ keyId }) => keyId)),
    textArray(column(({ model }) => model)),
    textArray(column(({ deployment }) => deployment)),
    usualColumn(
      column(({ usage }) => usage),
      'upstream',
    ),
    plainArray(column(({ tokens }) => tokens)),
    usualColumn(
      column(({ images }) => images),
      0,
    ),
    plainArray(column(({ amountNanoUsd }) => amountNanoUsd)),
    usualColumn(
      column(({ projectLeaseNanoUsd }) => projectLeaseNanoUsd),
      0n,
    ),
    usualColumn(
      column(({ keyLeaseNanoUsd }) => keyLeaseNanoUsd),
      0n,
    ),
    plainArray(column(({ requestId }) => hourOf(requestId) / 1000)),
    usualColumn(
      entries.map(({ unknowns }) => unknowns),
      0,
    ),
    usualColumn(
      column(({ countsRequest }) => (countsRequest ? 1 : undefined)),
      undefined,
    ),
    usualColumn(
      column(({ hits }) => hits),
      undefined,
    ),
    usualColumn(
      column(({ savedNanoUsd }) => savedNanoUsd),
      undefined,
    ),
    usualColumn(
      column(({ unknownNanoUsd }) => unknownNanoUsd),
      undefined,
    ),
    remarksOf(entries),
    usualColumn(
      column(({ batchId }) => batchId),
      undefined,
    ),
    usualColumn(
      column(({ inputs }) => inputs),
      undefined,
    ),
    ...(labels === undefined ? [] : labelColumns(entries, labels)),
  ]
}

/** Quoted by the driver: unlike other names, these rarely repeat. */
function labelColumns(entries: readonly CountedEntry[], labels: CountedLabels): unknown[] {
  const places: number[] = []
  const names: string[] = []
  const values: string[] = []
  for (const [index, { entry }] of entries.entries())
    for (const { label, value } of labels(entry)) {
      places.push(index + 1)
      names.push(label)
      values.push(value)
    }
  return [
    entries.map(({ entry }) => entry.labels?.user ?? ''),
    entries.map(({ entry }) => (entry.labels?.tags === undefined ? '' : JSON.stringify(entry.labels.tags))),
    plainArray(places),
    names,
    values,
  ]
}

/** Empty when every entry has the usual value: `unnest` fills missing values with NULL, and the statement knows what NULL means. */
function usualColumn<Value extends string | number | bigint | undefined>(
  values: readonly Value[],
  usual: Value,
): string {
  return values.every((value) => value === usual) ? '{}' : plainArray(values)
}

function remarksOf(entries: readonly CountedEntry[]): unknown {
  if (entries.every(({ entry }) => entry.remarks === undefined)) return '{}'
  // Quoted one by one by the driver: no two are equal, and few entries have any.
  return entries.map(({ entry: { remarks } }) =>
    remarks === undefined ? null : JSON.stringify(storedRemarks(remarks)),
  )
}

function shardOf(nodeId: string, lane: number): number {
  return (Number.parseInt(nodeId.slice(-4), 16) + lane * (SHARDS / 2)) % SHARDS
}

/** Parameters of `STANDING`. Ids between two others are a few days of the table, instead of all of them. */
export function standingValues(calls: readonly Pick<LedgerEntry, 'requestId' | 'attempt'>[]): unknown[] {
  const ids = calls.map(({ requestId }) => requestId)
  const sorted = ids.toSorted()
  return [plainArray(ids), plainArray(calls.map(({ attempt }) => attempt)), sorted[0], sorted.at(-1)]
}

/** One of 256 buckets by the random end of the request's id, in the order in which they are locked. */
export function bucketsOf(calls: readonly Pick<LedgerEntry, 'requestId'>[]): number[] {
  const buckets = new Set(calls.map(({ requestId }) => Number.parseInt(requestId.slice(-2), 16)))
  return [...buckets].toSorted((left, right) => left - right)
}
