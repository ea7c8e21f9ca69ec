/** Which files of tests run in one process, and which process begins first. */
import type { TestFile } from './test-files.ts'

/**
 * Their files run processes of their own, threads, or servers that are killed, count what the process has open, or read its OpenAPI document,
 * whose names depend on how many servers the process has made.
 */
const ALONE = [
  /^server\/test\/(?:e2e|simulation)\//,
  /^lab\/chaos\//,
  /^server\/test\/contract\/(?:upkeep|backup|database|blob-store)/,
  /^server\/test\/http\/(?:bodies|connections|disk-full|paths|stalled-readers|starting|edits\/multipart|embeddings\/media)\./,
  /^server\/src\/core\/image\/header-scan-bombs/,
  /^server\/src\/(?:thread\/|runtime\/(?:colour-mask|image-codec|json)\.)/,
]

/**
 * How many files of a part share a process. What a file leaves open until its process ends (nodes, connections to PostgreSQL)
 * stays open beside the next ones.
 */
const TOGETHER: Readonly<Record<string, number>> = {
  contract: 12,
  control: 17,
  batches: 4,
  http: 20,
  lab: 20,
}
const TOGETHER_OTHERWISE = 40

/** Parts in the order in which they begin: the longest processes first, so that none works alone at the end. */
const ORDER = ['batches', 'contract', 'control', 'http', 'lab', 'e2e', 'chaos', 'unit', 'simulation']

export interface TestProcess {
  readonly part: string
  readonly files: readonly string[]
}

/** The files of each process. */
export function shareOut(files: readonly TestFile[]): readonly TestProcess[] {
  const parts = Map.groupBy(files, ({ part }) => part)
  const order = [...new Set([...ORDER, ...parts.keys()])]
  return order.flatMap((part) => {
    const paths = (parts.get(part) ?? []).map(({ path }) => path)
    const alone = paths.filter((path) => ALONE.some((room) => room.test(path)))
    const others = paths.filter((path) => !alone.includes(path))
    const processes = Math.ceil(others.length / (TOGETHER[part] ?? TOGETHER_OTHERWISE))
    // In turns, so that no process has all long files of a folder.
    const together = Array.from({ length: processes }, (_, at) =>
      others.filter((_path, index) => index % processes === at),
    )
    return [...alone.map((path) => [path]), ...together].map((inOne) => ({ part, files: inOne }))
  })
}
