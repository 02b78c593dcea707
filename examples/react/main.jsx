// What each word of a sentence attends to, in a table that is computed anew when the sentence changes.

import { attention } from "heed";
import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

/** Letters of a word, counted: words that share letters attend to each other. */
function lettersOf(words) {
  const data = words.flatMap((word) => Array.from("abcdefghijklmnopqrstuvwxyz", (one) => word.split(one).length - 1));
  return { data: Float32Array.from(data), shape: [words.length, 26] };
}

function useWeights(words) {
  const [weights, setWeights] = useState();
  const sentence = words.join(" ");
  useEffect(() => {
    const controller = new AbortController();
    const letters = lettersOf(sentence.split(" "));
    attention(letters, letters, letters, { return: { weights: true }, signal: controller.signal })
      .then((result) => setWeights(result.weights))
      .catch((error) => {
        if (error.code !== "aborted") throw error;
      });
    return () => controller.abort();
  }, [sentence]);
  // Those of the sentence before have another shape.
  return weights?.shape[0] === words.length ? weights.data : undefined;
}

function App() {
  const [text, setText] = useState("the cat sat");
  const words = text.toLowerCase().split(" ");
  const weights = useWeights(words);
  // The same word may stand twice.
  const places = words.map((word, at) => ({ word, at, key: `${at} ${word}` }));
  const cellOf = (row, column) => weights?.[row * words.length + column].toFixed(2);
  return (
    <>
      <input value={text} onChange={({ target }) => setText(target.value)} aria-label="Sentence" />
      <table>
        <tbody>
          {places.map(({ word, at, key }) => (
            <tr key={key}>
              <th>{word}</th>
              {places.map((other) => (
                <td key={other.key}>{cellOf(at, other.at)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

createRoot(document.querySelector("#root")).render(<App />);
