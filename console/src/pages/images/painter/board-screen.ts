/**
 * What the board shows. The image is drawn when the view changes; the mask is drawn again only where it changed, once a
 * frame. So a stroke costs as much as it covers on the screen, whatever the image has of pixels.
 */
import { isEmpty, NO_BOX, union, type Box } from '../../../workers/pixels/mask.ts'
import { overlayOf, screenBox, type View } from '../../../workers/pixels/overlay.ts'
import type { Point } from '../../../workers/pixels/shapes.ts'
import type { Size } from '../sizes.ts'
import type { Painting } from './painting.ts'
import { fitted, moved, toImage, zoomed } from './view.ts'

interface ScreenParts {
  readonly frame: HTMLElement
  readonly image: ImageBitmap
  readonly imageCanvas: HTMLCanvasElement
  readonly maskCanvas: HTMLCanvasElement
  /** As large as the brush. */
  readonly ring: HTMLElement
  readonly painting: Painting
  readonly onView: (view: View) => void
}

/** From here on, pixels are shown as squares. */
const CRISP_FROM = 4
/** The longer edge, in pixels, of the copy that is drawn when the view is zoomed out. */
const SMALL_EDGE = 2048
/** A smaller one could not be seen. */
const MIN_RING = 4

export class BoardScreen {
  readonly #parts: ScreenParts
  readonly #observer: ResizeObserver
  readonly #unlisten: () => void
  #view: View = { scale: 1, left: 0, top: 0 }
  #isFitted = true
  #small: ImageBitmap | undefined
  #dirty: Box = NO_BOX
  #isImageDirty = false
  #outlinePoints: readonly Point[] = []
  #frame = 0
  #isClosed = false
  #isHeld = false
  #hasMoved = false

  constructor(parts: ScreenParts) {
    this.#parts = parts
    this.#unlisten = parts.painting.onDirty((box) =>
      this.#redraw(screenBox(box, this.#view, this.size.width, this.size.height)),
    )
    this.#observer = new ResizeObserver(() => this.#resized())
    this.#observer.observe(parts.frame)
    this.#resized()
    void this.#makeSmall()
  }

  /** In pixels of the screen itself. */
  get size(): Size {
    return this.#parts.maskCanvas
  }

  get view(): View {
    return this.#view
  }

  close(): void {
    this.#isClosed = true
    cancelAnimationFrame(this.#frame)
    this.#observer.disconnect()
    this.#unlisten()
    this.#small?.close()
  }

  /** The space bar is down: the pointer moves the image. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  hold(): void {
    this.#isHeld = true
    this.#hasMoved = false
  }

  /** Whether the image was moved since then. */
  release(): boolean {
    this.#isHeld = false
    return this.#hasMoved
  }

  look(view: View): void {
    const fit = fitted(this.#parts.painting.size, this.size)
    this.#isFitted = view.scale === fit.scale && view.left === fit.left && view.top === fit.top
    this.#view = view
    this.#parts.onView(view)
    this.#isImageDirty = true
    this.#redraw({ left: 0, top: 0, right: this.size.width, bottom: this.size.height })
  }

  zoom(factor: number, at: Point): void {
    this.look(zoomed(this.#view, factor, at, fitted(this.#parts.painting.size, this.size).scale))
  }

  zoomMiddle(factor: number): void {
    this.zoom(factor, { x: this.size.width / 2, y: this.size.height / 2 })
  }

  move(dx: number, dy: number): void {
    this.#hasMoved ||= this.#isHeld
    this.look(moved(this.#view, dx, dy))
  }

  /** Where in the image an event happened. */
  pointOf(event: { readonly clientX: number; readonly clientY: number }): Point {
    return toImage(this.#view, this.onScreen(event))
  }

  onScreen({ clientX, clientY }: { readonly clientX: number; readonly clientY: number }): Point {
    const { left, top } = this.#parts.frame.getBoundingClientRect()
    return { x: (clientX - left) * devicePixelRatio, y: (clientY - top) * devicePixelRatio }
  }

  /** The brush, at a point of the screen; undefined hides it. */
  showRing(at: Point | undefined, diameter = 0): void {
    const { style } = this.#parts.ring
    style.opacity = at === undefined ? '0' : '1'
    if (at === undefined) return
    const size = Math.max(MIN_RING, (diameter * this.#view.scale) / devicePixelRatio)
    style.width = `${size}px`
    style.height = `${size}px`
    style.transform = `translate(${at.x / devicePixelRatio - size / 2}px, ${at.y / devicePixelRatio - size / 2}px)`
  }

  /** A line that is not painted yet: of a rectangle or a lasso. In pixels of the image. */
  outline(points: readonly Point[]): void {
    this.#outlinePoints = points
    this.#redraw({ left: 0, top: 0, right: this.size.width, bottom: this.size.height })
  }

  #resized(): void {
    const { frame, imageCanvas, maskCanvas, painting } = this.#parts
    const width = Math.max(1, Math.round(frame.clientWidth * devicePixelRatio))
    const height = Math.max(1, Math.round(frame.clientHeight * devicePixelRatio))
    for (const canvas of [imageCanvas, maskCanvas]) {
      canvas.width = width
      canvas.height = height
    }
    this.look(this.#isFitted ? fitted(painting.size, this.size) : this.#view)
  }

  async #makeSmall(): Promise<void> {
    const { image } = this.#parts
    const longer = Math.max(image.width, image.height)
    if (longer <= SMALL_EDGE) return
    const small = await createImageBitmap(image, {
      resizeWidth: Math.round((image.width / longer) * SMALL_EDGE),
      resizeHeight: Math.round((image.height / longer) * SMALL_EDGE),
      resizeQuality: 'medium',
    })
    if (this.#isClosed) small.close()
    else this.#small = small
  }

  #redraw(box: Box): void {
    this.#dirty = union(this.#dirty, box)
    if (this.#frame !== 0 || this.#isClosed) return
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0
      this.#draw()
    })
  }

  #draw(): void {
    if (this.#isImageDirty) this.#paintImage()
    const { maskCanvas, painting } = this.#parts
    const box = this.#dirty
    this.#dirty = NO_BOX
    const context = maskCanvas.getContext('2d')
    if (isEmpty(box) || context === null) return
    const pixels = overlayOf(painting.mask, this.#view, box)
    context.putImageData(new ImageData(pixels, box.right - box.left), box.left, box.top)
    if (this.#outlinePoints.length > 1) this.#drawOutline(context)
  }

  #paintImage(): void {
    this.#isImageDirty = false
    const { image, imageCanvas } = this.#parts
    const context = imageCanvas.getContext('2d', { alpha: true })
    if (context === null) return
    const { scale, left, top } = this.#view
    context.clearRect(0, 0, imageCanvas.width, imageCanvas.height)
    context.imageSmoothingEnabled = scale < CRISP_FROM
    const source = this.#small !== undefined && image.width * scale <= this.#small.width ? this.#small : image
    context.drawImage(source, left, top, image.width * scale, image.height * scale)
  }

  #drawOutline(context: CanvasRenderingContext2D): void {
    const path = new Path2D()
    const { scale, left, top } = this.#view
    for (const { x, y } of this.#outlinePoints) path.lineTo(x * scale + left, y * scale + top)
    path.closePath()
    context.lineWidth = devicePixelRatio * 1.5
    context.setLineDash([])
    context.strokeStyle = '#fff'
    context.stroke(path)
    context.setLineDash([5 * devicePixelRatio, 5 * devicePixelRatio])
    context.strokeStyle = '#34147a'
    context.stroke(path)
  }
}
