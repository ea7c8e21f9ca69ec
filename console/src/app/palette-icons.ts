import {
  Activity,
  Boxes,
  Folder,
  Image,
  KeyRound,
  Network,
  Orbit,
  ScrollText,
  Server,
  UserRound,
  Waypoints,
  type LucideIcon,
} from 'lucide-react'
import type { HitType } from './resolve.ts'

export const HIT_ICONS: Record<HitType, LucideIcon> = {
  request: Activity,
  call: Waypoints,
  key: KeyRound,
  project: Folder,
  model: Boxes,
  deployment: Network,
  asset: Image,
  space: Orbit,
  node: Server,
  member: UserRound,
  audit: ScrollText,
}
