/** Tables fold into cards on a phone: each cell carries the name of its column. Rows of settings get an address. */
import type { HastPluginDefinition } from 'satteri'

interface Node {
  readonly type: string
  readonly tagName?: string
  readonly value?: string
  readonly children?: readonly Node[]
}

/** More columns than this do not fit a phone as labelled lines: the rest of a row folds. */
const MAX_OPEN_COLUMNS = 4

export function tables(): HastPluginDefinition {
  const used = new Set<string>()
  return {
    name: 'tables',
    element: {
      filter: ['table'],
      visit(table, context) {
        const rows = all(table, 'tr')
        const labels = all(rows[0], 'th').map((cell) => capital(text(cell)))
        context.setProperty(table, 'className', labels.length > MAX_OPEN_COLUMNS ? ['wide'] : [])
        for (const row of rows.slice(1)) {
          const cells = all(row, 'td')
          const name = nameOf(cells[0])
          if (name !== undefined && !used.has(name)) {
            used.add(name)
            context.setProperty(row as never, 'id', name)
          }
          cells.forEach((cell, index) => {
            context.setProperty(cell as never, 'dataL', labels[index] ?? '')
          })
        }
      },
    },
  }
}

/** The one name in a first cell, such as `TORANA_DATA_DIR`: readers link to its row. */
function nameOf(cell: Node | undefined): string | undefined {
  const [first] = cell?.children ?? []
  const name = first?.tagName === 'code' ? text(first) : undefined
  return name !== undefined && /^[A-Za-z_][\w.-]+$/.test(name) ? name : undefined
}

function all(node: Node | undefined, tagName: string): readonly Node[] {
  return (node?.children ?? []).flatMap((child) =>
    child.tagName === tagName ? [child] : all(child, tagName),
  )
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function text(node: Node): string {
  return node.value ?? (node.children ?? []).map(text).join('')
}
