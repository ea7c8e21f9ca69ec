/** A language may lack entries: English shows in their place. */

/** The same shape with every entry optional. Sentences and lists are entries. */
export type Partly<Words> = Words extends string | readonly unknown[]
  ? Words
  : Words extends (...facts: infer Facts) => infer Text
    ? (...facts: Facts) => Text extends string ? string : Text
    : { readonly [Name in keyof Words]?: Partly<Words[Name]> }

type Entries = Readonly<Record<string, unknown>>

export function withFallback<Words extends object>(some: Partly<NoInfer<Words>>, all: Words): Words {
  const merged = Object.entries(all).map(([name, whole]) => {
    const own = (some as Entries)[name]
    if (own === undefined) return [name, whole]
    return [name, hasEntries(whole) ? withFallback(own as object, whole) : own]
  })
  return Object.fromEntries(merged) as Words
}

/** The paths of entries that fall back: `keys.form.title`. */
export function missingIn(some: object | undefined, all: object, path = ''): readonly string[] {
  return Object.entries(all).flatMap(([name, whole]) => {
    const own = (some as Entries | undefined)?.[name]
    const here = `${path}${name}`
    if (hasEntries(whole)) return missingIn(own as object | undefined, whole, `${here}.`)
    return own === undefined ? [here] : []
  })
}

function hasEntries(words: unknown): words is object {
  return typeof words === 'object' && words !== null && !Array.isArray(words)
}
