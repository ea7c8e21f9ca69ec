/** Where a path of keys is in a text of YAML in block style: each step is a line below the one before, and further in. */

/** A key, or the field of an item of a list: `upstream: gpu-one`. */
export type YamlPath = readonly string[]

/** The index of the last step that is there. Undefined: not even the first. */
export function lineOf(lines: readonly string[], path: YamlPath): number | undefined {
  let found: number | undefined
  for (const step of path) {
    const indent = found === undefined ? -1 : indentOf(lines[found] ?? '')
    const next = lines.findIndex(
      (line, at) => at > (found ?? -1) && indentOf(line) > indent && isStep(line, step),
    )
    if (next < 0) return found
    found = next
  }
  return found
}

function isStep(line: string, step: string): boolean {
  const text = line
    .trim()
    .replace(/^- \{? ?/, '')
    .replaceAll(/['"]/g, '')
  return text === `${step}:` || text.startsWith(`${step}: `) || text === step || text.startsWith(`${step},`)
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}
