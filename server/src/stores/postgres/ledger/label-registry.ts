/**
 * Which labels are counted separately. A caller can send a million users and tags, and each would be a row per hour for good; so the
 * labels of a project are limited per day. Later ones are counted together, and reports say so: no sum loses a call.
 */
import { hourOf, type LedgerEntry } from '#core/money/ledger.ts'
import { MAX_TAG_KEYS, MAX_LABEL_VALUES } from '#core/money/labels.ts'
import type { Database, Sql } from '../database.ts'
import { reachable } from '../unreachable.ts'
import { DAY_MS } from '#core/money/id-range.ts'

/** Values that a node caches: some twenty megabytes. Beyond it, the node reads them again. */
const REMEMBERED = 200_000

/** All values of a label that are not counted separately. No caller can send it: an empty value is no value. */
export const OTHER_VALUES = ''
const TAG = 'tag:'
/** All tags whose keys are not counted separately. */
export const OTHER_TAGS = TAG

/** Where a label of an entry is counted. */
interface CountedLabel {
  readonly label: string
  readonly value: string
}

/** Where each label of some entries is counted. */
export type CountedLabels = (entry: LedgerEntry) => readonly CountedLabel[]

/** A label of an entry, with its project and day. */
interface WantedLabel extends CountedLabel {
  readonly day: string
  readonly project: string
}

/** What a node knows of one project and day. */
interface KnownDay {
  readonly labels: Map<string, KnownLabel>
  /** The maximum of tag keys is reached: `labels` has all of them. */
  hasAllKeys: boolean
}

interface KnownLabel {
  readonly values: Set<string>
  /** The maximum of values is reached: `values` has all of them. */
  hasAllValues: boolean
}

/** An arbitrary number that no other lock of the database uses. */
const LOCK_DAY = 'SELECT pg_advisory_xact_lock(7061713, hashtext($1 || $2))'

/**
 * All labels of the day: the row with the empty value is that of the label itself. Values are counted for the labels $3 only: a full
 * one has a thousand.
 */
const LABELS = `
SELECT label, CASE WHEN label = ANY($3::text[]) THEN (
  SELECT count(*) - 1 FROM usage_labels AS one WHERE one.day = $1::date AND one.project = $2 AND one.label = names.label
) ELSE 0 END::integer AS values
FROM usage_labels AS names WHERE day = $1::date AND project = $2 AND value = ''`

const KNOWN = `
SELECT label, value FROM usage_labels
WHERE day = $1::date AND project = $2 AND value <> ''
  AND (label = ANY($5::text[]) OR (label, value) IN (SELECT * FROM unnest($3::text[], $4::text[])))`

const ADD = `
INSERT INTO usage_labels (day, project, label, value)
SELECT $1::date, $2, label, value FROM unnest($3::text[], $4::text[]) AS added (label, value)
ON CONFLICT DO NOTHING`

/** In a transaction that is open already, or in one of its own. */
type Within = <Result>(work: (sql: Sql) => Promise<Result>) => Promise<Result>

export class LabelRegistry {
  readonly #database: Pick<Database, 'transaction'>
  readonly #maxRemembered: number
  #days = new Map<string, KnownDay>()
  #remembered = 0
  /** Labels of the next round. */
  #wanted: WantedLabel[] = []
  #next: Promise<void> | undefined
  #round = Promise.resolve()

  constructor(database: Pick<Database, 'transaction'>, maxRemembered = REMEMBERED) {
    this.#database = database
    this.#maxRemembered = maxRemembered
  }

  /**
   * Registers labels of entries that are about to be appended, so that no batch has to. One round at a time, on one connection; what
   * comes meanwhile is registered together in the next. Undefined if this node knows all of them.
   */
  register(entries: readonly LedgerEntry[]): Promise<void> | undefined {
    const unknown = this.#unknownIn(entries)
    if (unknown.length === 0) return undefined
    this.#wanted.push(...unknown)
    if (this.#next === undefined) {
      // A round that failed says nothing about the next one.
      this.#next = this.#round.catch(() => {}).then(() => this.#registerWanted())
      this.#round = this.#next
    }
    return this.#next
  }

  #registerWanted(): Promise<void> {
    const wanted = this.#wanted
    this.#wanted = []
    this.#next = undefined
    return reachable(this.#admit(wanted, (work) => this.#database.transaction(work)))
  }

  /** `sql`: a transaction, or the database for one of its own. The store is not read where this node knows the labels. */
  async counted(entries: readonly LedgerEntry[], sql: Database | Sql): Promise<CountedLabels> {
    const within: Within = 'transaction' in sql ? (work) => sql.transaction(work) : (work) => work(sql)
    const places = new Map<string, CountedLabel>()
    const note = (wanted: WantedLabel): void => {
      const place = placeIn(this.#days.get(dayOf(wanted)), wanted)
      if (place !== undefined) places.set(identityOf(wanted), place)
    }
    for (const entry of entries) for (const wanted of wantedBy(entry)) note(wanted)
    await this.#admit(this.#unknownIn(entries), within, note)
    return (entry) =>
      distinct(wantedBy(entry).map((wanted) => places.get(identityOf(wanted)) as CountedLabel))
  }

  #unknownIn(entries: readonly LedgerEntry[]): WantedLabel[] {
    return entries.flatMap((entry) => wantedBy(entry).filter((wanted) => !this.#knows(wanted)))
  }

  #knows(wanted: WantedLabel): boolean {
    return placeIn(this.#days.get(dayOf(wanted)), wanted) !== undefined
  }

  /** Calls `note` for each label while its day is remembered. */
  async #admit(
    unknown: readonly WantedLabel[],
    within: Within,
    note: (wanted: WantedLabel) => void = () => {},
  ): Promise<void> {
    // Sorted, so that two nodes cannot deadlock on each other's days.
    const days = [...Map.groupBy(unknown, dayOf)].toSorted(([a], [b]) => (a < b ? -1 : 1))
    for (const [name, all] of days) {
      // The round before may have registered some of them.
      const wanted = all.filter((one) => !this.#knows(one))
      if (wanted.length > 0) this.#remember(name, await within((sql) => admitted(sql, wanted)))
      all.forEach(note)
    }
  }

  #remember(name: string, learnt: KnownDay): void {
    this.#add(name, learnt)
    if (this.#remembered <= this.#maxRemembered) return
    this.#days = new Map()
    this.#remembered = 0
    this.#add(name, learnt)
  }

  #add(name: string, { labels, hasAllKeys }: KnownDay): void {
    const day = this.#days.get(name) ?? { labels: new Map<string, KnownLabel>(), hasAllKeys }
    this.#days.set(name, day)
    day.hasAllKeys ||= hasAllKeys
    for (const [label, { values, hasAllValues }] of labels) {
      const known = day.labels.get(label) ?? { values: new Set<string>(), hasAllValues }
      const before = day.labels.has(label) ? known.values.size + 1 : 0
      for (const value of values) known.values.add(value)
      known.hasAllValues ||= hasAllValues
      day.labels.set(label, known)
      this.#remembered += known.values.size + 1 - before
    }
  }
}

/** Undefined if the store has to be read. */
function placeIn(day: KnownDay | undefined, { label, value }: WantedLabel): CountedLabel | undefined {
  const known = day?.labels.get(label)
  if (known?.values.has(value)) return { label, value }
  if (known?.hasAllValues) return { label, value: OTHER_VALUES }
  const isLeftOut = known === undefined && day?.hasAllKeys === true && label.startsWith(TAG)
  return isLeftOut ? { label: OTHER_TAGS, value: OTHER_VALUES } : undefined
}

/** Adds the labels that there is room for. One node at a time does it for a project and a day, so the limits are exact. */
async function admitted(sql: Sql, all: readonly WantedLabel[]): Promise<KnownDay> {
  const [{ day, project }] = all as readonly [WantedLabel]
  await sql.query(LOCK_DAY, [day, project])
  // Separate statements: they see what was added during the wait for the lock.
  const asked = [all.map(({ label }) => label), all.map(({ value }) => value)]
  const counts = await sql.query<{ label: string; values: number }>(LABELS, [day, project, asked[0]])
  const full = counts.filter(({ values }) => values >= MAX_LABEL_VALUES).map(({ label }) => label)
  const found = await sql.query<CountedLabel>(KNOWN, [day, project, ...asked, full])
  const sizes = new Map(counts.map(({ label, values }) => [label, values]))
  const labels = new Map<string, KnownLabel>(
    counts.map(({ label, values }) => [
      label,
      { values: new Set(), hasAllValues: values >= MAX_LABEL_VALUES },
    ]),
  )
  for (const { label, value } of found) labels.get(label)?.values.add(value)
  const added: CountedLabel[] = []
  let tagKeys = counts.filter(({ label }) => label.startsWith(TAG)).length
  for (const { label, value } of all) {
    if (!labels.has(label)) {
      if (label.startsWith(TAG) && tagKeys >= MAX_TAG_KEYS) continue
      if (label.startsWith(TAG)) tagKeys += 1
      labels.set(label, { values: new Set(), hasAllValues: false })
      added.push({ label, value: OTHER_VALUES })
    }
    const { values } = labels.get(label) as KnownLabel
    const size = sizes.get(label) ?? 0
    if (values.has(value) || size >= MAX_LABEL_VALUES) continue
    values.add(value)
    sizes.set(label, size + 1)
    added.push({ label, value })
  }
  if (added.length > 0)
    await sql.query(ADD, [day, project, added.map(({ label }) => label), added.map(({ value }) => value)])
  return {
    labels: await withWholes(sql, { day, project }, labels, sizes),
    hasAllKeys: tagKeys >= MAX_TAG_KEYS,
  }
}

/** A label that is full is known with all its values; otherwise a counted value could be taken for one that came too late. */
async function withWholes(
  sql: Sql,
  { day, project }: Pick<WantedLabel, 'day' | 'project'>,
  labels: Map<string, KnownLabel>,
  sizes: ReadonlyMap<string, number>,
): Promise<Map<string, KnownLabel>> {
  const filled = [...labels].flatMap(([label, { hasAllValues }]) =>
    !hasAllValues && (sizes.get(label) ?? 0) >= MAX_LABEL_VALUES ? [label] : [],
  )
  if (filled.length === 0) return labels
  const values = await sql.query<CountedLabel>(KNOWN, [day, project, [], [], filled])
  for (const { label, value } of values) labels.get(label)?.values.add(value)
  for (const label of filled) (labels.get(label) as KnownLabel).hasAllValues = true
  return labels
}

function wantedBy({ requestId, project, labels }: LedgerEntry): readonly WantedLabel[] {
  if (labels === undefined) return []
  const day = new Date(Math.floor(hourOf(requestId) / DAY_MS) * DAY_MS).toISOString().slice(0, 10)
  const { user, tags = {} } = labels
  const ofTags = Object.entries(tags).map(([key, value]) => ({ day, project, label: TAG + key, value }))
  return user === undefined ? ofTags : [{ day, project, label: 'user', value: user }, ...ofTags]
}

/** An entry with several tags whose keys are not counted separately is counted once among them. */
function distinct(labels: readonly CountedLabel[]): readonly CountedLabel[] {
  const first = labels.findIndex(({ label }) => label === OTHER_TAGS)
  return first === -1 ? labels : labels.filter(({ label }, index) => label !== OTHER_TAGS || index === first)
}

function dayOf({ day, project }: Pick<WantedLabel, 'day' | 'project'>): string {
  return `${day} ${project}`
}

/** No name contains a NUL. */
function identityOf({ day, project, label, value }: WantedLabel): string {
  return `${day} ${project}\0${label}\0${value}`
}
