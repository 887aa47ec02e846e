import type { components, webhooks } from '../lib/schema.d.ts';
type EventName = Exclude<keyof webhooks, 'AUTHORIZE' | 'REMOVE' | 'REDACT'>;
type RecordsOf<Name extends EventName> = webhooks[Name]['post']['requestBody']['content']['application/json'];
/** What a webhook is notified of. `event` says of what kind the record is. */
export type Notification = {
    [Name in EventName]: {
        readonly event: Name;
        /** The same in every try: remember it, because a notification may come twice. */
        readonly id: string;
        readonly timestamp: Date;
        /** The place of the event in the feed; 0 for a test. */
        readonly sequence: number;
        /** The members that took other values, where the kind of event says so. */
        readonly changed: readonly string[];
        /** As it was right after the change; of Customer Erased the number alone. */
        readonly record: RecordsOf<Name>[number];
    };
}[EventName];
/** A store is about to use the application, or to end that; with the Action REDACT, a person was erased in it. */
export type Callback = components['schemas']['Callback'] | components['schemas']['Redaction'];
export interface ReceivedRequest {
    readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
    /** As it came, before anything parsed it. */
    readonly body: string | Uint8Array;
}
export interface VerifyOptions {
    /** The age of a message, back or ahead, from which on it is refused. 5 minutes if omitted. */
    readonly toleranceMs?: number;
    readonly now?: Date;
}
/** The message was not signed with the secret, or too long ago. Answer 400, and use nothing of it. */
export declare class VerificationError extends Error {
    readonly name = "VerificationError";
}
/**
 * Verifies a notification of a webhook whose format is JSON, and reads it. `secret` is that of `/Webhooks/{id}/Secret`, or several
 * while one replaces another. Throws `VerificationError`.
 */
export declare function verifyNotification(request: ReceivedRequest, secret: string | readonly string[], options?: VerifyOptions): Promise<Notification>;
/** Verifies a callback to an application's CallBackURL by its callback secret, and reads it. Throws `VerificationError`. */
export declare function verifyCallback(request: ReceivedRequest, secret: string | readonly string[], options?: VerifyOptions): Promise<Callback>;
export {};
