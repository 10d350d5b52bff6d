// The sandbox's page: a Preact app, bundled in memory on the first request (../src/page-bundle.ts).
//
//   store/      the state in one reducer, the stream of changes, and the actions of people
//   slack/      Block Kit as pure components: <MessageView>, <ModalSheet>, <HomeTab> draw JSON, and need no store
//   workspace/  the parts of the page around them, which read the store: sidebar, channel, thread, composer, dialogs
//   look/       colours and shapes as variables that all parts use
//
// To add a panel, make a folder beside these (such as `ci/`) with a component and its style sheet, which the component
// imports (`import './ci.css'`, with classes that begin with `ci-`). Then add a row to `panels.ts`: DOCK for a panel
// beside the conversation, LINE for a part of the line at the bottom, ABOVE for a box over the page. A panel keeps its
// state in its own store (`createStore` and `useStore` in store/store.ts). It reads the workspace with
// `useSlack((state) => …)`, performs actions with `useActs()`, keeps data over a reload with `remember` and `recall`
// (store/memory.ts), and shows errors with `acts.tell`. The content security policy refuses inline scripts, inline
// style attributes and other servers. (`element.style.setProperty` and Preact's `style={{ … }}` are allowed.)
import { render } from 'preact'
import { App } from './app.tsx'
import './look/look.css'

render(<App />, document.body)
