/** The smallest image that still shows something, in a window that is too low. */
const MIN_IMAGE_HEIGHT = '10rem'

/** As wide as the pane, unless the image and what is `below` it would not fit into the pane's height. */
export function fittedWidth(ratio: number, below: string): string {
  return `min(100%, max(${MIN_IMAGE_HEIGHT}, 100cqh - ${below}) * ${ratio})`
}
