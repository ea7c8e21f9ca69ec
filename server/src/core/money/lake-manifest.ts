/** Makes the manifest of a day, and compares it with what was sealed. */
import {
  addedUp,
  differingSums,
  MANIFEST_FORMAT,
  MAX_GROUPS,
  NO_SUMS,
  sumsIn,
  sumTexts,
  type EntrySums,
  type GroupTotals,
  type HourTotals,
  type LedgerTotals,
  type Manifest,
  type ManifestFile,
} from './lake.ts'
import { HOUR_MS } from './ledger.ts'

export interface ManifestParts {
  readonly day: string
  /** The manifest of the day before this one. Undefined: this is its first. */
  readonly before: Manifest | undefined
  /** The last manifest of the chain. */
  readonly last: { readonly sequence: number; readonly sha256: string } | undefined
  /** Files that are new. */
  readonly files: readonly ManifestFile[]
  /** Totals of the sealed entries: of the first manifest only. */
  readonly entries: LedgerTotals | undefined
  /** Totals of the new corrections. */
  readonly corrections: LedgerTotals | undefined
}

/** The same parts make the same text, whichever node makes it. */
export function manifestOf({ day, before, last, files, entries, corrections }: ManifestParts): Manifest {
  const groups = merged([
    ...(before?.groups.map((group) => ({ ...group, sums: sumsIn(group) })) ?? []),
    ...(entries?.groups ?? []),
    ...(corrections?.groups ?? []),
  ])
  const others = before === undefined ? [] : [sumsIn(before.others)]
  others.push(...groups.slice(MAX_GROUPS).map(({ sums }) => sums))
  const corrected = before === undefined ? [] : [sumsIn(before.corrections)]
  return {
    format: MANIFEST_FORMAT,
    day,
    number: (before?.number ?? 0) + 1,
    sequence: (last?.sequence ?? 0) + 1,
    previous: last?.sha256 ?? null,
    sums: before?.sums ?? sumTexts(entries?.sums ?? NO_SUMS),
    hours: before?.hours ?? (entries?.hours ?? []).map((hour) => hourText(day, hour)),
    corrections: sumTexts(addedUp([...corrected, corrections?.sums ?? NO_SUMS])),
    groups: groups
      .slice(0, MAX_GROUPS)
      .map(({ project, model, sums }) => ({ project, model, ...sumTexts(sums) })),
    others: sumTexts(addedUp(others)),
    files: [...(before?.files ?? []), ...files],
  }
}

/** Why the hours that were read are not those that were sealed. Undefined: they are. */
export function sealedDifference(
  read: readonly HourTotals[],
  sealed: readonly HourTotals[],
): string | undefined {
  const byHour = new Map(read.map((hour) => [hour.hourMs, hour]))
  for (const { hourMs, sums, hash } of sealed) {
    const own = byHour.get(hourMs)
    const hour = hourOfDay(hourMs)
    if (own === undefined) return `the hour ${hour} has no entries`
    const [differing] = differingSums(own.sums, sums)
    if (differing !== undefined)
      return `${differing} of the hour ${hour} is ${own.sums[differing]}, and was ${sums[differing]} when it was sealed`
    if (own.hash !== hash) return `the hash of the hour ${hour} is another one than when it was sealed`
  }
  return read.length === sealed.length ? undefined : 'an hour has entries and none when it was sealed'
}

/** The hours of a manifest. */
export function hoursIn({ hours }: Manifest): readonly HourTotals[] {
  return hours.map(({ hour, hash, ...sums }) => ({ hourMs: Date.parse(hour), hash, sums: sumsIn(sums) }))
}

function hourText(day: string, { hourMs, sums, hash }: HourTotals): Manifest['hours'][number] {
  return { hour: `${day}T${hourOfDay(hourMs)}:00Z`, ...sumTexts(sums), hash }
}

/** Such as `09:00`. */
function hourOfDay(hourMs: number): string {
  return `${String((hourMs / HOUR_MS) % 24).padStart(2, '0')}:00`
}

/** One group for each project and model, in their order. */
function merged(groups: readonly GroupTotals[]): readonly GroupTotals[] {
  const sums = new Map<
    string,
    { readonly project: string; readonly model: string; readonly all: EntrySums[] }
  >()
  for (const { project, model, sums: own } of groups) {
    const key = JSON.stringify([project, model])
    const known = sums.get(key)
    if (known === undefined) sums.set(key, { project, model, all: [own] })
    else known.all.push(own)
  }
  return [...sums.entries()]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([, { project, model, all }]) => ({ project, model, sums: addedUp(all) }))
}
