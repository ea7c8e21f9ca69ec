/** The bands of a picture with ribbons, and the bars that they touch. */
import type { ReactNode } from 'react'
import { ribbonPath, type RibbonLayout } from './layout.ts'

interface Band {
  readonly id: string
  readonly fromX: number
  readonly toX: number
  readonly colour: string
  /** Of the way that is looked at; undefined: nobody looks at one. */
  readonly isLit: boolean | undefined
  readonly onClick: () => void
  readonly onHover: (isOver: boolean) => void
}

const OPACITY = 0.3
const LIT_OPACITY = 0.55
const DIM_OPACITY = 0.12

interface RibbonBandsProps {
  readonly layout: RibbonLayout
  readonly width: number
  readonly bands: readonly Band[]
  readonly children?: ReactNode
}

export function RibbonBands({ layout, width, bands, children }: RibbonBandsProps) {
  return (
    <svg aria-hidden width={width} height={layout.height} className="absolute top-0 left-0">
      {bands.map(({ id, fromX, toX, colour, isLit, onClick, onHover }) => {
        const place = layout.ribbons.get(id)
        if (place === undefined) return null
        return (
          <path
            key={id}
            d={ribbonPath(place, fromX, toX)}
            fill={colour}
            opacity={isLit === undefined ? OPACITY : isLit ? LIT_OPACITY : DIM_OPACITY}
            className="cursor-pointer transition-opacity duration-120"
            onClick={onClick}
            onPointerEnter={() => onHover(true)}
            onPointerLeave={() => onHover(false)}
          />
        )
      })}
      {children}
    </svg>
  )
}
