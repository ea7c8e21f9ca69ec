/**
 * The entry or part that a place in a body belongs to, as faults name it: `input/0/content/1/image_url/url` is in
 * `input[0].content[1]`.
 */
export function paramAt(place: string): string {
  const steps = place.split('/')
  const last = steps.findLastIndex((step) => /^\d+$/.test(step))
  return steps
    .slice(0, last === -1 ? 1 : last + 1)
    .map((step, index) => (/^\d+$/.test(step) ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join('')
}
