// The sandbox's page: one Preact app, bundled in memory when it is first asked for (../slack/page-bundle.ts).
//
//   store/      what is known and shown, in one reducer; the stream of changes; what a person does by hand
//   slack/      Block Kit as pure components: <Message>, <ModalSheet>, <HomeTab> draw JSON, and need no store
//   workspace/  the parts of the page around them, which read the store: sidebar, channel, thread, composer, dialogs
//   look/       colours and shapes that all parts share, as variables: no part names a colour of its own
//
// How a panel is added: make a folder beside these (`ci/`, say) with a component and its own style sheet, which the
// component imports (`import './ci.css'`, its classes beginning with `ci-`); then put one row into `panels.ts`: DOCK for
// a panel beside the conversation, LINE for what is always in sight at the bottom, ABOVE for what floats over the page.
// A panel keeps what it knows in a store of its own (`createStore` and `useStore` in store/store.ts), reads the
// workspace with `useSlack((state) => …)`, does what people do with `useActs()`, keeps what shall survive a reload with
// `remember` and `recall` (store/memory.ts), and says what went wrong with `acts.tell`. Nothing here may need inline
// scripts, inline style attributes or an outside address: the policy refuses them. (`element.style.setProperty` from
// script is allowed, and so is Preact's `style={{ … }}`.)
import { render } from 'preact'
import { App } from './app.tsx'
import './look/look.css'

render(<App />, document.body)
