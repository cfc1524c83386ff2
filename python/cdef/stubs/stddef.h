/* empty: cffi knows these types */
