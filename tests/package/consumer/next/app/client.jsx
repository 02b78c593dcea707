"use client";
import * as heed from "heed";
import * as reference from "heed/reference";
import { useEffect } from "react";
import { compute, leave } from "./compute.js";

export default function Client() {
  useEffect(() => leave(compute(heed, reference)), []);
  return <p>computes in the browser</p>;
}
