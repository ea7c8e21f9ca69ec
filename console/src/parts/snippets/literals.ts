/** Texts as the literals of a language. Pure, with tests. */

/** Longer lists have one text a line. */
const ONE_LINE_CHARACTERS = 60

/** Python, Go, Java, C# and JSON read the same escapes in double quotes. */
function doubleQuoted(text: string): string {
  return JSON.stringify(text)
}

/** As JavaScript is written here. */
function singleQuoted(text: string): string {
  return `'${JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`)}'`
}

/** What stands between the brackets of a list; `indent` is that of the line on which the list begins. */
export function listed(
  texts: readonly string[],
  { quotes = 'double', indent = '', tab = '    ', last = ',', contents }: ListLook = {},
): string {
  const quoted = contents ?? texts.map(quotes === 'double' ? doubleQuoted : singleQuoted)
  const line = quoted.join(', ')
  if (line.length <= ONE_LINE_CHARACTERS) return line
  return `\n${quoted.map((one) => `${indent}${tab}${one}`).join(',\n')}${last}\n${indent}`
}

interface ListLook {
  readonly quotes?: 'double' | 'single'
  readonly indent?: string
  readonly tab?: string
  /** After the last of several lines: JSON and Java want nothing there. */
  readonly last?: ',' | ''
  /** In place of texts, as JSON, which all these languages read. */
  readonly contents?: readonly string[] | undefined
}

/** Inside single quotes of a shell, where only the quote itself has to be led out. */
export function inShell(text: string): string {
  return text.replaceAll("'", String.raw`'\''`)
}
