import type { paths } from '../lib/schema.d.ts';
/** The addresses of the services, such as `/Products/{catalogid}`. */
export type Path = keyof paths;
type Method = 'get' | 'post' | 'put' | 'delete';
/** The addresses that take the method. */
export type PathOf<M extends Method> = {
    [P in Path]: paths[P] extends {
        readonly [Name in M]: {
            responses: unknown;
        };
    } ? P : never;
}[Path];
type OperationAt<P extends Path, M extends Method> = paths[P] extends {
    readonly [Name in M]: infer Operation;
} ? Operation : never;
type Member<T, Name extends string> = T extends {
    readonly [N in Name]?: infer Value;
} ? NonNullable<Value> : never;
type ParametersOf<P extends Path, M extends Method> = Member<OperationAt<P, M>, 'parameters'>;
/** What the address names, such as `{ catalogid: 12 }`. */
type PathValues<P extends Path, M extends Method> = Member<ParametersOf<P, M>, 'path'>;
/** What stands behind the `?`. A number of records is asked for by `count`. */
export type QueryOf<P extends Path, M extends Method> = Omit<Member<ParametersOf<P, M>, 'query'>, 'countonly'>;
export type BodyOf<P extends Path, M extends Method> = Member<Member<Member<OperationAt<P, M>, 'requestBody'>, 'content'>, 'application/json'>;
type Responses<P extends Path, M extends Method> = Member<OperationAt<P, M>, 'responses'>;
type Content<T> = T extends {
    readonly content: {
        readonly 'application/json': infer Value;
    };
} ? Value : never;
/** What a success answers. */
export type AnswerOf<P extends Path, M extends Method> = Content<Member<Responses<P, M>, '200'>> | Content<Member<Responses<P, M>, '201'>>;
/** The addresses of lists. */
export type ListPath = {
    [P in PathOf<'get'>]: AnswerOf<P, 'get'> extends readonly unknown[] ? P : never;
}[PathOf<'get'>];
/** One record of the list at an address. */
export type RecordOf<P extends ListPath> = AnswerOf<P, 'get'> extends readonly (infer Item)[] ? Item : never;
/** The lists that have a number at `/Count`. */
export type CountedPath = Extract<Path, `${string}/Count`> extends `${infer List}/Count` ? Extract<List, ListPath> : never;
interface Common {
    /** Ends the request and its retries. */
    readonly signal?: AbortSignal;
    /** How to answer (RFC 7240): `handling=strict`, `handling=lenient`, `count=exact`, or several with commas. */
    readonly prefer?: string;
}
/** Options that may be left out as a whole where nothing in them is required. */
export type Arguments<Options> = Record<never, never> extends Options ? [options?: Options] : [options: Options];
type PathOption<P extends Path, M extends Method> = [PathValues<P, M>] extends [never] ? {
    readonly path?: never;
} : {
    readonly path: PathValues<P, M>;
};
export type GetOptions<P extends Path> = Common & PathOption<P, 'get'> & {
    readonly query?: QueryOf<P, 'get'>;
};
type BodyOption<P extends Path, M extends Method> = [BodyOf<P, M>] extends [never] ? {
    readonly body?: never;
} : {
    readonly body: BodyOf<P, M>;
};
export type ChangeOptions<P extends Path, M extends 'post' | 'put' | 'delete'> = Common & PathOption<P, M> & BodyOption<P, M> & {
    /** The ETag that the record must still have; else the change is refused with 412. */
    readonly ifMatch?: string;
    /** Names the change, so that a repetition changes nothing. Omitted: a new one for each call. */
    readonly idempotencyKey?: string;
};
export {};
