/** Removes the byte order mark with which some servers begin an answer. JSON does not allow it. */
export function withoutByteOrderMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

const BEYOND_ASCII = /[\u0080-\uffff]/

/** JSON whose length in characters is its length in bytes. */
export function asciiJson(value: unknown): string {
  const json = JSON.stringify(value) as string | undefined
  if (json === undefined) return 'null'
  if (!BEYOND_ASCII.test(json)) return json
  return json.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
