import type { components } from "./schema";

type Schemas = components["schemas"];

/** The API's messages by their names. Generated from `docs/openapi.json` by `npm run types`. */
export type Asked = Schemas["Asked"];
export type AuditEntry = Schemas["AuditEntry"];
export type Answer = Schemas["Answer"];
export type Citation = Schemas["Citation"];
export type Conversation = Schemas["Session"];
export type ConversationChange = Schemas["SessionChange"];
export type EvidenceEvent = Schemas["EvidenceEvent"];
export type Feedback = Schemas["FeedbackRequest"];
export type Hit = Schemas["Hit"];
export type Job = Schemas["Job"];
export type KeptResponse = Schemas["KeptResponse"];
export type KeptTurn = Schemas["Turn"];
export type Listed = Schemas["DocumentEntry"];
export type Listing = Schemas["DocumentList"];
export type Mark = Schemas["Mark"];
export type Me = Schemas["Me"];
export type ModelTest = Schemas["ModelTest"];
export type Original = Schemas["Original"];
export type Problem = Schemas["Problem"];
export type Question = Schemas["QueryRequest"];
export type Link = Schemas["Link"];
export type SharedAnswer = Schemas["SharedAnswer"];
export type SentenceEvent = Schemas["SentenceEvent"];
export type SignedOut = Schemas["SignedOut"];
export type SignInWays = Schemas["SignInWays"];
export type MadeKey = Schemas["MadeKey"];
export type Period = Schemas["Period"];
export type Person = Schemas["StoredPerson"];
export type State = Schemas["State"];
export type Stats = Schemas["Stats"];
export type StoredKey = Schemas["StoredKey"];
export type Statement = Schemas["Statement"];
export type StoredDocument = Schemas["Document"];
