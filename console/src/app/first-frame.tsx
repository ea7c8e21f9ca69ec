/** The frame that came with the page stays until it is known who is signed in. */

let html = ''

export function keepFirstFrame(written: string): void {
  html = written
}

export function FirstFrame() {
  return <div className="h-full" dangerouslySetInnerHTML={{ __html: html }} />
}
