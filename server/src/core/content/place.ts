/** Places in a body, as faults name them. */

/** Names and positions from the outside in. */
export type Place = readonly (string | number)[]

/** `input[0].content[1]`. */
export function nameOf(place: Place): string {
  return place
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join('')
}

/** The entry or part that a place belongs to: `input/0/content/1/image_url/url` is in `input[0].content[1]`. */
export function paramAt(place: string): string {
  const steps = place.split('/').map((step) => (/^\d+$/.test(step) ? Number(step) : step))
  const last = steps.findLastIndex((step) => typeof step === 'number')
  return nameOf(steps.slice(0, last === -1 ? 1 : last + 1))
}
