// Uses the client that hey-api generates, as an application would. Printed as JSON for the test.
import { client } from "./generated/client.gen.ts";
import { addLabel, countBookmarks, listBookmarks, updateBookmark } from "./generated/sdk.gen.ts";
import type { Attachment, Bookmark } from "./generated/types.gen.ts";

client.setConfig({ baseUrl: process.env.ADDRESS, auth: () => process.env.KEY });

const listed = await listBookmarks({ query: { limit: 2, sort_by: "posted_at" } });
if (!listed.data) throw new Error(JSON.stringify(listed.error));
const posts: Bookmark[] = listed.data.data;
const choices: Attachment["choices"] = posts[0].tweet_details.attachments[0]?.choices;
const labelled = await addLabel({ body: { tweet_ids: [posts[0].post_id], label_name: "typed" } });
const counted = await countBookmarks({ query: { tag: "typed" } });
const refused = await updateBookmark({ path: { post_id: posts[0].post_id }, body: {} });

console.log(
  JSON.stringify({
    ids: posts.map((post) => post.post_id),
    choices,
    cursor: listed.data.meta.next_cursor,
    labelled: labelled.response?.status,
    count: counted.data?.data.count,
    code: refused.error?.code,
  }),
);
