/** Which files of tests run in one process, and which process begins first. */

/**
 * Their files run processes of their own, threads, or servers that are killed, or count what the process has open: each has a process
 * for itself. The longest stand first.
 */
const ALONE = [
  /^server\/test\/http\/batches\//,
  /^server\/test\/(?:e2e|simulation)\//,
  /^lab\/chaos\//,
  /^server\/test\/contract\/(?:upkeep|backup|database|blob-store)/,
  /^server\/test\/http\/(?:[^/]+$|edits\/multipart)/,
]

/** The same, of those that are over soon: with them at the end, no process works alone while the others have nothing left to do. */
const ALONE_AND_SHORT = [
  /^server\/src\/core\/image\/header-scan-bombs/,
  /^lab\/bench\//,
  /^server\/src\/(?:upstreams|runtime|thread)\//,
  /^lab\/(?!bench|chaos)/,
]

/**
 * How many files of a folder share a process. What a file leaves open until its process ends (nodes, connections to PostgreSQL)
 * stays open beside the next ones: few of those that start a node, many of those that start nothing.
 */
const TOGETHER: readonly (readonly [folder: string, most: number])[] = [
  ['server/test/http/', 6],
  ['server/test/contract/', 6],
  ['', 40],
]

/** They wait for pauses, windows and drains of real seconds. Corpora and types embed with the demo model, which needs a core. */
const IDLE = [/^server\/test\/http\/batches\//, /^server\/test\/e2e\/(?:stops|batches\/(?!corpus|types))/]

export function isIdle(file: string): boolean {
  return IDLE.some((room) => room.test(file))
}

/** The files of each process. */
export function sharedOut(files: readonly string[]): string[][] {
  const filesIn = (rooms: readonly RegExp[]): readonly string[] =>
    rooms.flatMap((room) => files.filter((file) => room.test(file)))
  const [alone, short] = [filesIn(ALONE), filesIn(ALONE_AND_SHORT)]
  const others = files.filter((file) => !alone.includes(file) && !short.includes(file))
  const together = TOGETHER.flatMap(([folder, most], index) => {
    const earlier = TOGETHER.slice(0, index)
    const those = others.filter(
      (file) => file.startsWith(folder) && !earlier.some(([before]) => file.startsWith(before)),
    )
    return Array.from({ length: Math.ceil(those.length / most) }, (_, at) =>
      those.slice(at * most, (at + 1) * most),
    )
  })
  return [...alone.map((file) => [file]), ...together, ...short.map((file) => [file])]
}
