/** Every place, inside of the frame or outside of it. Without components, so that tests outside of a browser can read it. */
import { rootRoute, shellRoute } from './place.ts'
import * as places from './places.ts'

const { welcome, signIn, invite, ...framed } = places

export const routeTree = rootRoute.addChildren({
  welcome,
  signIn,
  invite,
  shell: shellRoute.addChildren(framed),
})
