/** Why nothing can be changed at this moment, for every button that changes something. Undefined: nothing stands in the way. */
import { createContext } from 'react'

export const BlockedWrites = createContext<string | undefined>(undefined)
