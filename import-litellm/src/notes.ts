/** What a person must know after an import: what was left behind and why, and what was carried on an assumption. */

/** Where something stood, as `config.yaml:12`. */
export type Place = string

interface Item {
  readonly place: Place
  readonly subject: string
}

export class Notes {
  readonly #left = new Map<string, Item[]>()
  readonly #mentioned = new Map<string, Item[]>()

  /** Not carried over. Things with the same reason are listed together. */
  leave(place: Place, subject: string, reason: string): undefined {
    add(this.#left, reason, { place, subject })
    return undefined
  }

  /** Carried over, but the operator should look at it. */
  mention(place: Place, subject: string, text: string): void {
    add(this.#mentioned, text, { place, subject })
  }

  left(): string[] {
    return linesOf(this.#left)
  }

  mentioned(): string[] {
    return linesOf(this.#mentioned)
  }
}

function add(notes: Map<string, Item[]>, text: string, item: Item): void {
  const items = notes.get(text)
  if (items) items.push(item)
  else notes.set(text, [item])
}

function linesOf(notes: ReadonlyMap<string, readonly Item[]>): string[] {
  return [...notes].flatMap(([text, items]) => {
    const width = Math.max(...items.map(({ place }) => place.length))
    return [
      `  ${printable(text)}`,
      ...items.map(({ place, subject }) => `    ${place.padEnd(width)}  ${printable(subject)}`),
    ]
  })
}

/** Names come from other people's files: nothing in them may steer a terminal. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
}
