/** A part of a page that comes from code, between `<!-- generated name -->` and `<!-- /generated -->`. */

/** The page with its part made again; everything else stays. */
export function withPart(page: string, name: string, part: string): string {
  const found = new RegExp(`(<!-- generated ${name}\\b[^>]*-->\n)[\\s\\S]*?(<!-- /generated -->)`)
  if (!found.test(page))
    throw new Error(
      `The page needs <!-- generated ${name} --> and <!-- /generated -->, each in a line of its own`,
    )
  return page.replace(found, (_, begin: string, end: string) => `${begin}${part}\n${end}`)
}
