/** Checks a source against a schema, reports every fault, and keeps what is valid. */
import { z } from 'zod'
import type { Path, Report } from './problem.ts'
import { describeIssue } from './wording.ts'
import type { Issue } from './wording.ts'
import type { Source } from './yaml.ts'

export interface ValidFile<Value> {
  readonly value: Value
  /** Takes paths within `value`, from which list entries may be missing, and reports the paths of the file. */
  readonly report: Report
}

/**
 * Faulty fields are left out, and with them what depends on them, so that references between the valid parts can still be
 * checked in the same run. Undefined when nothing is valid.
 */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  source: Source,
): ValidFile<z.output<Schema>> | undefined {
  const sound = schema.safeParse(source.data ?? {})
  if (sound.success) return { value: sound.data, report: source.report }
  // The following steps change values and remove some.
  const data: unknown = structuredClone(source.data ?? {})
  let result: z.ZodSafeParseResult<z.output<Schema>> = sound
  if (!result.success && coerce(issuesOf(result.error), data, source)) result = schema.safeParse(data)
  if (result.success) return { value: result.data, report: source.report }

  const shape = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  for (const issue of issuesOf(result.error)) {
    const where = pathOf(issue)
    const subject = { value: valueAt(data, where), isSecret: source.isInterpolated(where) }
    for (const { path, message, at } of describeIssue(issue, where, subject, shape)) {
      source.report.problem(path, message, at)
    }
  }
  const indexes: Indexes = new WeakMap()
  while (!result.success) {
    const faulty = issuesOf(result.error).flatMap((issue) => faultyFields(issue, data))
    if (faulty.length === 0) return undefined
    leaveOut(faulty, indexes)
    result = schema.safeParse(data)
  }
  const inFile = (path: Path) => pathInFile(path, data, indexes)
  return {
    value: result.data,
    report: {
      ...source.report,
      problem: (path, message, at) => source.report.problem(inFile(path), message, at),
      warning: (path, message) => source.report.warning(inFile(path), message),
      isBroken: (path) => source.report.isBroken(inFile(path)),
      place: (path) => source.report.place(inFile(path)),
    },
  }
}

/** Issues with full paths. Of a union, only the branch that the value was most likely meant for is reported. */
function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.flatMap((issue) => flatten(issue))
}

function flatten(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const meant = issue.errors
    .filter((branch) => !branch.some(isWrongKind))
    .toSorted((a, b) => a.length - b.length)[0]
  if (!meant) return [issue]
  return meant.flatMap((inner) => flatten({ ...inner, path: [...issue.path, ...inner.path] }))
}

function isWrongKind(issue: Issue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value')
}

/** A variable is text; where the schema wants a number or a boolean, it is converted. */
function coerce(issues: readonly Issue[], data: unknown, source: Source): boolean {
  let changed = false
  for (const issue of issues) {
    if (issue.code !== 'invalid_type' || !source.isInterpolated(pathOf(issue))) continue
    const slot = slotOf(data, pathOf(issue))
    const text = slot?.holder[slot.key]
    if (!slot || typeof text !== 'string') continue
    if ((issue.expected === 'number' || issue.expected === 'int') && /^-?\d+(\.\d+)?$/.test(text)) {
      slot.holder[slot.key] = Number(text)
    } else if (issue.expected === 'boolean' && (text === 'true' || text === 'false')) {
      slot.holder[slot.key] = text === 'true'
    } else continue
    changed = true
  }
  return changed
}

type Holder = Record<string | number, unknown>

/** A field of a mapping or an entry of a list. */
interface Slot {
  readonly holder: Holder
  readonly key: string | number
}

/** For lists that lost entries: the original index of each remaining entry. */
type Indexes = WeakMap<object, readonly number[]>

function valueAt(data: unknown, path: Path): unknown {
  return path.reduce((value, step) => (isHolder(value) ? value[step] : undefined), data)
}

function slotOf(data: unknown, path: Path): Slot | undefined {
  const holder = valueAt(data, path.slice(0, -1))
  const key = path.at(-1)
  return key !== undefined && isHolder(holder) ? { holder, key } : undefined
}

function isHolder(value: unknown): value is Holder {
  return value !== null && typeof value === 'object'
}

/** The innermost thing that exists on the way to the fault. */
function faultyFields(issue: Issue, data: unknown): Slot[] {
  const path = pathOf(issue)
  const fields = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...path, key]) : [path]
  return fields.flatMap((field) => {
    for (let length = field.length; length > 0; length -= 1) {
      const slot = slotOf(data, field.slice(0, length))
      if (slot && Object.hasOwn(slot.holder, slot.key)) return [slot]
    }
    return []
  })
}

function leaveOut(faulty: readonly Slot[], indexes: Indexes): void {
  for (const [holder, slots] of Map.groupBy(faulty, (slot) => slot.holder)) {
    const keys = new Set(slots.map(({ key }) => key))
    if (Array.isArray(holder)) {
      const before = indexes.get(holder) ?? [...holder.keys()]
      indexes.set(
        holder,
        before.filter((_, index) => !keys.has(index)),
      )
      holder.splice(0, holder.length, ...holder.filter((_, index) => !keys.has(index)))
    } else for (const key of keys) delete holder[key]
  }
}

function pathInFile(path: Path, data: unknown, indexes: Indexes): Path {
  let holder: unknown = data
  return path.map((step) => {
    const list = Array.isArray(holder) && typeof step === 'number' ? indexes.get(holder) : undefined
    holder = isHolder(holder) ? holder[step] : undefined
    return list?.[step as number] ?? step
  })
}

function pathOf(issue: Issue): Path {
  return issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
}
