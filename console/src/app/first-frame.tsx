/** The frame that came with the page, read before React takes its place, stays until it is known who is signed in. */
const html = globalThis.document?.querySelector('[data-first-frame]')?.outerHTML ?? ''

export function FirstFrame() {
  return <div className="h-full" dangerouslySetInnerHTML={{ __html: html }} />
}
